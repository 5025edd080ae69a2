import { configureGlobal } from "fast-check";

// A run says something about the change under test only if it tries what the run before it tried. JOBFERRY_PROPERTY_SEED=random
// (or a number) looks further; fast-check prints the seed of a failure.
const { JOBFERRY_PROPERTY_SEED: seed = "1" } = process.env;
if (seed !== "random") configureGlobal({ seed: Number(seed) });
