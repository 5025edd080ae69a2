/** How the field `redisUrl` of a configuration is called on the command line. */
export const flagOf = (field: string): string => `--${field.replaceAll(/[A-Z]/g, "-$&").toLowerCase()}`;

/** And in the environment. */
export const variableOf = (field: string): string => `JOBFERRY_${field.replaceAll(/[A-Z]/g, "_$&").toUpperCase()}`;
