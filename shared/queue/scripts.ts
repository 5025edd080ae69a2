/**
 * How a message gets into the hands of its receiver and leaves them. BullMQ's own scripts for this trust the job's hash:
 * its options, its size, and the parent and child keys in it. An agent can write the hashes of its prefix, so with the
 * manager's rights they would follow it into other clusters. These read three fields, return a bounded text, and touch
 * nothing but KEYS and keys that begin with the box's own. They keep BullMQ's layout, so its tools work.
 *
 * Agents may run these and no others: the manager loads them, an agent names them by their hash. So whatever their arguments
 * are, each looks at a bounded number of things.
 */
import { createHash } from "node:crypto";

/** At least as many as a receiver has in hand at once. */
export const MAX_SWEPT = 200;

/** BullMQ's scores of delayed jobs leave 12 bits for the order within a millisecond. */
const MS = 4096;
/** And those of prioritized ones 32 for the order among equals. */
const PRIORITY = 2 ** 32;

/**
 * Adds a message unless the box is full. KEYS 1 wait, 2 prioritized, 3 delayed, 4 active, 5 marker, 6 id, 7 bytes;
 * ARGV 1 key prefix, 2 text, 3 priority, 4 now in ms, 5 most messages, 6 most bytes. 0: it is full.
 * An empty box holds no bytes, whatever the count says: some may have been taken out by an older version, which does not count.
 */
const push = `
local waiting = redis.call("LLEN", KEYS[1]) + redis.call("ZCARD", KEYS[2]) + redis.call("ZCARD", KEYS[3])
local bytes = 0
if waiting > 0 or redis.call("LLEN", KEYS[4]) > 0 then bytes = math.max(0, tonumber(redis.call("GET", KEYS[7])) or 0) end
bytes = bytes + #ARGV[2]
if waiting >= tonumber(ARGV[5]) or bytes > tonumber(ARGV[6]) then return 0 end
local id = redis.call("INCR", KEYS[6])
redis.call("HSET", ARGV[1] .. id, "name", "message", "data", ARGV[2], "opts", "{}", "timestamp", ARGV[4], "delay", "0", "priority", ARGV[3])
if ARGV[3] == "0" then redis.call("LPUSH", KEYS[1], id)
else redis.call("ZADD", KEYS[2], tonumber(ARGV[3]) * ${PRIORITY} + id % ${PRIORITY}, id) end
redis.call("ZADD", KEYS[5], 0, "0")
redis.call("SET", KEYS[7], string.format("%.0f", bytes))
return 1`;

/**
 * KEYS 1 wait, 2 active, 3 prioritized, 4 delayed, 5 marker;
 * ARGV 1 key prefix, 2 lock token, 3 lock ms, 4 now in ms, 5 largest text.
 * Answers {id, tries, text or false if that is too large}, or {false, due time of the next delayed message or 0}.
 */
const take = `
local due = redis.call("ZRANGEBYSCORE", KEYS[4], 0, (tonumber(ARGV[4]) + 1) * ${MS} - 1, "LIMIT", 0, 100)
for _, id in ipairs(due) do
  redis.call("ZREM", KEYS[4], id)
  local priority = tonumber(redis.call("HGET", ARGV[1] .. id, "priority")) or 0
  if priority == 0 then redis.call("RPUSH", KEYS[1], id)
  else redis.call("ZADD", KEYS[3], priority * ${PRIORITY}, id) end
end
local id = redis.call("RPOPLPUSH", KEYS[1], KEYS[2])
if not id then
  id = redis.call("ZPOPMIN", KEYS[3])[1]
  if not id then
    local first = redis.call("ZRANGE", KEYS[4], 0, 0, "WITHSCORES")
    return {false, math.floor((tonumber(first[2]) or 0) / ${MS})}
  end
  redis.call("LPUSH", KEYS[2], id)
end
if redis.call("LLEN", KEYS[1]) > 0 or redis.call("ZCARD", KEYS[3]) > 0 then redis.call("ZADD", KEYS[5], 0, "0") end
local hash = ARGV[1] .. id
redis.call("SET", hash .. ":lock", ARGV[2], "PX", ARGV[3])
local tries = redis.call("HINCRBY", hash, "ats", 1)
if redis.call("HSTRLEN", hash, "data") > tonumber(ARGV[5]) then return {id, tries, false} end
return {id, tries, redis.call("HGET", hash, "data") or ""}`;

/** KEYS 1 active, 2 stalled, 3 the job's hash, 4 its lock; ARGV 1 id, 2 lock token. 0: the message is somebody else's. */
const RELEASE = `
if redis.call("GET", KEYS[4]) ~= ARGV[2] then return 0 end
redis.call("DEL", KEYS[4])
redis.call("SREM", KEYS[2], ARGV[1])
redis.call("LREM", KEYS[1], -1, ARGV[1])
`;

/** KEYS 5 bytes. */
const done = `${RELEASE}
redis.call("DECRBY", KEYS[5], redis.call("HSTRLEN", KEYS[3], "data"))
redis.call("DEL", KEYS[3])
return 1`;

/** KEYS 5 delayed, 6 marker; ARGV 3 due time in ms, 4 reason. */
const retry = `${RELEASE}
if redis.call("EXISTS", KEYS[3]) == 0 then return 1 end
redis.call("HSET", KEYS[3], "failedReason", ARGV[4])
redis.call("ZADD", KEYS[5], tonumber(ARGV[3]) * ${MS}, ARGV[1])
local first = redis.call("ZRANGE", KEYS[5], 0, 0, "WITHSCORES")
redis.call("ZADD", KEYS[6], tonumber(first[2]) / ${MS}, "1")
return 1`;

/** KEYS 5 failed, 6 bytes; ARGV 3 now in ms, 4 reason, 5 how many to keep, 6 largest text to keep, 7 key prefix. */
const quarantine = `${RELEASE}
local bytes = redis.call("HSTRLEN", KEYS[3], "data")
redis.call("DECRBY", KEYS[6], bytes)
if bytes > tonumber(ARGV[6]) then redis.call("HDEL", KEYS[3], "data") end
redis.call("HSET", KEYS[3], "failedReason", ARGV[4], "finishedOn", ARGV[3])
redis.call("ZADD", KEYS[5], ARGV[3], ARGV[1])
local surplus = math.min(redis.call("ZCARD", KEYS[5]) - tonumber(ARGV[5]), 100)
if surplus > 0 then
  for _, id in ipairs(redis.call("ZRANGE", KEYS[5], 0, surplus - 1)) do redis.call("DEL", ARGV[7] .. id) end
  redis.call("ZREMRANGEBYRANK", KEYS[5], 0, surplus - 1)
end
return 1`;

/**
 * Hands out again what a receiver took and did not settle: its lock has ended. KEYS 1 active, 2 wait, 3 marker; ARGV 1 key
 * prefix. Each look turns the list by one, so that its cost does not grow with what somebody planted there, and
 * the next sweep goes on where this one ended. BullMQ's own goes through the whole list for every message in it.
 */
const sweep = `
local returned = 0
for _ = 1, math.min(redis.call("LLEN", KEYS[1]), ${MAX_SWEPT}) do
  local id = redis.call("RPOPLPUSH", KEYS[1], KEYS[1])
  local hash = ARGV[1] .. id
  if redis.call("EXISTS", hash .. ":lock") == 0 then
    redis.call("LREM", KEYS[1], 1, id)
    if redis.call("EXISTS", hash) == 1 then
      redis.call("RPUSH", KEYS[2], id)
      returned = returned + 1
    end
  end
end
if returned > 0 then redis.call("ZADD", KEYS[3], 0, "0") end
return returned`;

/** A piece of a log stream. KEYS 1 lane; ARGV 1 piece, 2 how long it is kept in ms, 3 most pieces. 0: the lane is full. */
const lane = `
if redis.call("LLEN", KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call("RPUSH", KEYS[1], ARGV[1])
redis.call("PEXPIRE", KEYS[1], ARGV[2])
return 1`;

const texts = { push, take, done, retry, sweep, quarantine, lane };
const hashOf = (text: string): string => createHash("sha1").update(text).digest("hex");
/** Answers when the others are there: it is loaded last, and another release has another one. */
const ready = `return 1 -- ${hashOf(Object.values(texts).join())}`;

const script = (lua: string, keys: number) => ({ lua, keys, sha: hashOf(lua) });

/** In the order in which they are loaded. */
export const SCRIPTS = {
  push: script(push, 7),
  take: script(take, 5),
  done: script(done, 5),
  retry: script(retry, 6),
  sweep: script(sweep, 3),
  quarantine: script(quarantine, 6),
  lane: script(lane, 1),
  ready: script(ready, 1),
} as const;
export type ScriptName = keyof typeof SCRIPTS;
