/** How shared/kube copes with a server that is cut off, slow, restarted or forgetful. */

import { flakySandbox } from "./subject.ts";
import { troubles } from "./troubles.ts";

troubles("the sandbox", flakySandbox());
