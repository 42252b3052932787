/** Thrown if a command cannot be carried out; the message names the remedy. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}
