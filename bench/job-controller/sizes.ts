/** How much is measured. `quick` shows that everything runs; its figures mean nothing. */
export interface Sizes {
  /** Turns of each controller; an even number lets each go first equally often. */
  readonly rounds: number;
  /** Pods of the one large Indexed Job, and how many of them may run at once. */
  readonly pods: number;
  readonly parallelism: number;
  /** Jobs of one pod created at once. */
  readonly jobs: number;
  /** Jobs of one pod created one after the other. */
  readonly singles: number;
  /** Pods that a freshly started controller runs before it is measured. */
  readonly warmUp: number;
  /** Indexes of the small and the large Job in the sandbox. A short run says little: small Jobs repeat until `least` pods ran. */
  readonly sandbox: {
    readonly small: number;
    readonly large: number;
    readonly least: number;
    readonly parallelism: number;
  };
}

export const fullSizes: Sizes = {
  rounds: 4,
  pods: 5_000,
  parallelism: 1_000,
  jobs: 1_000,
  singles: 15,
  warmUp: 1_000,
  sandbox: { small: 1_000, large: 100_000, least: 10_000, parallelism: 1_000 },
};

export const quickSizes: Sizes = {
  rounds: 1,
  pods: 60,
  parallelism: 20,
  jobs: 15,
  singles: 2,
  warmUp: 5,
  sandbox: { small: 50, large: 300, least: 50, parallelism: 50 },
};
