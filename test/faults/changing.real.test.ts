import { sufferEveryFault } from "./every-fault.ts";
import { changing } from "./scenarios-changing.ts";

sufferEveryFault(changing);
