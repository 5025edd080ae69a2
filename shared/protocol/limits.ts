/** Bounds of the protocol. What exceeds one is refused by the sender, and again by the receiver. */

/** As large as a Job can be on an API server (etcd's request limit); also what a payload may grow to when unpacked. */
export const MAX_PAYLOAD_BYTES = 1_572_864;
/** Below this, gzip costs more time than the bytes it saves. */
export const GZIP_ABOVE_BYTES = 8 * 1024;
/** Versions, names, key ids, salt and counter: 186 characters at most. */
export const MAX_HEADER_CHARS = 192;
/** A full payload with its seal in base64, and its header line. */
export const MAX_ENVELOPE_CHARS = Math.ceil((MAX_PAYLOAD_BYTES + 16) / 3) * 4 + MAX_HEADER_CHARS;
/** Deeper than any Job; keeps recursive readers of a message off the end of the stack. */
export const MAX_DEPTH = 64;

export const MAX_CONDITIONS = 32;
/** The Job controller never leaves more than 500 pods uncounted. */
export const MAX_UNCOUNTED_PODS = 1000;
/** 100,000 indexes with every other one missing take about 350 kB. */
export const MAX_INDEXES_CHARS = 700_000;
export const MAX_MESSAGE_CHARS = 32_768;
/** Of a refusal or a warning; the sender cuts longer ones. */
export const MAX_SENTENCE_CHARS = 4096;
export const MAX_EVENTS_PER_REPORT = 50;
/** ConfigMaps and Secrets that travel with one Job. */
export const MAX_REFERENCES = 256;
/** Of the contents of one of them, in base64: a piece fits well into a message, and all of them hold what an API server stores. */
export const MAX_PIECE_CHARS = 524_288;
export const MAX_PIECES = 20;
/** Jobs in one report that says what they lacked is there. */
export const MAX_AVAILABLE = 500;
export const MAX_INVENTORY_PAGE = 5000;
/** Pods of one Job that are reported, whatever their number. */
export const MAX_REPORTED_PODS = 1000;
export const MAX_POD_CONTAINERS = 64;
/** Of one pod. */
export const MAX_POD_EVENTS = 12;
/** Of a reason, a message or a name in a pod's status; the sender cuts longer ones. */
export const MAX_POD_TEXT_CHARS = 1024;
export const MAX_INVENTORY_PAGES = 1000;
export const MAX_RESOURCES = 100;
/** Nodes are reported by kind: some dozens of rows for thousands of nodes. */
export const MAX_NODE_SHAPES = 128;
export const MAX_FREE_ROWS = 16;
export const MAX_NODE_LABELS = 64;
export const MAX_TAINTS = 32;
export const MAX_HIDDEN_LABELS = 256;
/** Of all shapes as JSON: a report without them must never be too large because of them. */
export const MAX_NODES_CHARS = 262_144;
/** One, and while keys are changed the next or the former. */
export const MAX_OWN_KEYS = 2;
export const MAX_MANAGER_KEYS = 8;
export const MAX_INT32 = 2 ** 31 - 1;
