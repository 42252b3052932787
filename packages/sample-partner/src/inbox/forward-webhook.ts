/** The service's delivery timeout. */
const TIMEOUT_MS = 10_000;
const PORT_MIN = 1024;
const PORT_MAX = 65_535;

/** A delivery as received. */
export interface RawDelivery {
  readonly body: Buffer;
  /** Content type and signature headers. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns the port in a path; undefined if it is not an unprivileged port. */
export const readForwardPort = (text: string): number | undefined => {
  const port = /^\d{4,5}$/.test(text) ? Number(text) : 0;
  return port >= PORT_MIN && port <= PORT_MAX ? port : undefined;
};

/**
 * Forwards a delivery unchanged to `/webhooks` of a local program and returns its response: 502 if the port is closed,
 * 504 on timeout.
 */
export const forwardWebhook = async (port: number, { body, headers }: RawDelivery): Promise<number> => {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/webhooks`, {
      method: 'POST',
      headers,
      body: new Uint8Array(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    return error instanceof DOMException && error.name === 'TimeoutError' ? 504 : 502;
  }
};
