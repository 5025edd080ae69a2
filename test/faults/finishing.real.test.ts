import { sufferEveryFault } from "./every-fault.ts";
import { finishing } from "./scenarios-finishing.ts";

sufferEveryFault(finishing);
