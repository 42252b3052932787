/** A reason not to start whose message tells the person what to do; shown without a stack. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
