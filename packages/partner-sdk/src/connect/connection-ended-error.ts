/** The user is not connected. Only a new connect flow brings tokens. */
export class ConnectionEndedError extends Error {
  override readonly name = 'ConnectionEndedError';
  readonly svcUserId: string;

  constructor(svcUserId: string, options: { cause?: unknown } = {}) {
    super('The user is not connected. Start a new connect flow.', options);
    this.svcUserId = svcUserId;
  }
}
