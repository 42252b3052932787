/** Thrown if a command cannot be carried out; the message names the remedy. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
}

/** Thrown if the command line is invalid. */
export class UsageError extends OperatorError {
  override readonly name = 'UsageError';
}
