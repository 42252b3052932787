/** Thrown for a valid parameter of the Responses format that the gateway does not support. */
export class Unsupported extends Error {
  override readonly name = 'Unsupported';
  readonly param: string;

  constructor(param: string, reason: string) {
    super(`${param} is not supported: ${reason}`);
    this.param = param;
  }
}
