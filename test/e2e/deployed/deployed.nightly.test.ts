import { deployedJobferry } from "./deployed.ts";

await deployedJobferry({ jobs: Number(process.env.JOBFERRY_DEPLOYED_JOBS ?? 200), hanging: true });
