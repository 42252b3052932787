import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type WebhookEvent, webhookEventSchema } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { inject } from 'vitest';

export interface Delivery {
  readonly at: number;
  readonly headers: Record<string, string>;
  readonly rawBody: string;
  readonly event: WebhookEvent;
  readonly answered: number;
}

/** A partner's webhook receiver over real TLS. */
export interface Receiver {
  readonly url: string;
  readonly deliveries: Delivery[];
  /** Next statuses to send; 204 once they are used up. */
  readonly answers: number[];
  readonly waitForEvent: (name: WebhookEvent['event'], userId?: string) => Promise<Delivery>;
  readonly close: () => Promise<void>;
}

const taken = new Set<number>();

/** Starts a receiver on one of the ports that the tested stack allows. */
export const startReceiver = async (): Promise<Receiver> => {
  const { key, cert } = inject('certificate');
  const deliveries: Delivery[] = [];
  const answers: number[] = [];
  const server = createServer({ key, cert }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const rawBody = Buffer.concat(chunks).toString('utf8');
      const answered = answers.shift() ?? 204;
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      deliveries.push({
        at: Date.now(),
        headers,
        rawBody,
        event: webhookEventSchema.parse(JSON.parse(rawBody)),
        answered,
      });
      response.writeHead(answered).end();
    });
  });
  const port = await listenOnAllowedPort(server);
  return {
    url: `https://localhost:${port}/webhooks`,
    deliveries,
    answers,
    waitForEvent: (name, userId) =>
      waitFor(() => deliveries.find((d) => d.event.event === name && (!userId || d.event.user.svc_user_id === userId))),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
        taken.delete(port);
      }),
  };
};

/** Serves the metadata document of a client that no business registered, at its client id. */
export const startDocumentHost = async (redirectUri: string): Promise<{ clientId: string; close: () => void }> => {
  const server = createServer(inject('certificate'), (_request, response) => {
    const document = { client_id: clientId, client_name: 'Agent', redirect_uris: [redirectUri] };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
  });
  const port = await listenOnAllowedPort(server);
  const clientId = `https://localhost:${port}/clients/agent.json`;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
    taken.delete(port);
  };
  return { clientId, close };
};

const listenOnAllowedPort = async (server: ReturnType<typeof createServer>): Promise<number> => {
  for (const port of inject('receiverPorts')) {
    if (taken.has(port)) continue;
    const listening = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, 'localhost', () => resolve(true));
    });
    if (listening) {
      taken.add(port);
      return (server.address() as AddressInfo).port; // a server that listens on a port has an AddressInfo
    }
  }
  throw new Error('no allowed receiver port is free');
};

/** Verifies a delivery by section 6.3 of the contract, independently of the product's code. */
export const isSignedWith = (delivery: Pick<Delivery, 'headers' | 'rawBody'>, secret: string): boolean => {
  const match = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(delivery.headers['x-svc-signature'] ?? '');
  if (!match?.[1] || !match[2]) return false;
  if (Math.abs(Date.now() / 1000 - Number(match[1])) > 300) return false;
  const expected = createHmac('sha256', secret).update(`${match[1]}.${delivery.rawBody}`).digest();
  return timingSafeEqual(expected, Buffer.from(match[2], 'hex'));
};
