import { WEBHOOK_SIGNATURE_HEADER } from '@svc/partner-sdk';

/** As long as the service waits for an answer, and no longer. */
const TIMEOUT_MS = 10_000;
const PORT_MIN = 1024;
const PORT_MAX = 65_535;

/** A delivery as it came. */
export interface RawDelivery {
  readonly body: Buffer;
  readonly contentType: string | undefined;
  readonly signature: string | undefined;
}

/** The port that a path names; undefined where it names none that an ordinary program listens on. */
export const readForwardPort = (text: string): number | undefined => {
  const port = /^\d{4,5}$/.test(text) ? Number(text) : 0;
  return port >= PORT_MIN && port <= PORT_MAX ? port : undefined;
};

/**
 * Passes a delivery on, byte by byte, to `/webhooks` of a program on this machine, and tells what it has answered: 502 where nobody
 * listens, 504 where nobody answers.
 */
export const forwardWebhook = async (port: number, { body, contentType, signature }: RawDelivery): Promise<number> => {
  const headers = new Headers();
  if (contentType !== undefined) headers.set('content-type', contentType);
  if (signature !== undefined) headers.set(WEBHOOK_SIGNATURE_HEADER, signature);
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
