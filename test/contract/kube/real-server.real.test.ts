/** How shared/kube copes with a server that is cut off, slow, restarted or forgetful. */

import { flakyRealServer } from "./subject.ts";
import { troubles } from "./troubles.ts";

troubles("a real API server", flakyRealServer());
