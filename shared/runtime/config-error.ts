/** Something the user configured is wrong; the message names the field and the fix. Programs end with `exitCode`. */
export class ConfigError extends Error {
  readonly exitCode: number = 2;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ConfigError";
  }
}
