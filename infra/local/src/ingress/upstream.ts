import type { Agent, ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import httpProxy from 'http-proxy';
import { answerError } from './answer-error.ts';
import { passedOnHeaders } from './forwarded-headers.ts';
import type { IngressMatch } from './ingress-table.ts';
import type { StoppingServices } from './stopping-services.ts';
import { answerWaiting } from './waiting-page.ts';

/** Seconds after which a client may find a restarted service. */
const RETRY_AFTER_SECONDS = 1;
/** The request never reached the service, so nothing was done. */
const NEVER_REACHED = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** Where one request goes. */
export interface Forwarding {
  match: IngressMatch;
  target: string | undefined;
}

/** Passes requests on to services. */
export interface Upstream {
  forward: (req: IncomingMessage, res: ServerResponse, to: Forwarding) => void;
}

/** How services are reached. */
export interface UpstreamOptions {
  agent: Agent;
  stopping: StoppingServices;
  /** Milliseconds without a byte: inference answers may think for long, others may not. */
  idleTimeoutMs: { answers: number; streams: number };
}

/** Makes the forwarder: request and answer are streamed, and when either side goes away the other one learns of it. */
export const createUpstream = ({ agent, stopping, idleTimeoutMs }: UpstreamOptions): Upstream => {
  const proxy = httpProxy.createProxyServer({ agent, selfHandleResponse: true });
  proxy.on('proxyReq', (proxyReq, req, res) => {
    endWithAnswer(proxyReq, req, res);
    proxyReq.once('response', (proxyRes) => leaveStream(proxyReq, proxyRes));
  });
  proxy.on('proxyRes', (proxyRes, _req, res) => passOn(proxyRes, res));
  // A client that left while its request was being sent; there is nobody to tell.
  proxy.on('econnreset', (_error, _req, res) => destroyQuietly(res));
  return {
    forward: (req, res, { match, target }) => {
      if (target === undefined || stopping.includes(match.service)) {
        answerDown(req, res, { match, isCertain: true });
        return;
      }
      const timeout = match.service === 'inference-gateway' ? idleTimeoutMs.streams : idleTimeoutMs.answers;
      proxy.web(req, res, { target, proxyTimeout: timeout }, (error) => {
        const isCertain = 'code' in error && NEVER_REACHED.has(String(error.code));
        answerDown(req, res, { match, isCertain });
      });
    },
  };
};

/**
 * http-proxy sees a client leave only while its request is still being read; a stream is left later than that. And it sends
 * nothing more of a request that was answered early: the rest is read here and dropped, or the client's next request on
 * this connection would wait behind it for ever.
 */
const endWithAnswer = (proxyReq: ClientRequest, req: IncomingMessage, res: ServerResponse): void => {
  const end = (): void => {
    if (res.writableFinished && proxyReq.writableFinished) return;
    req.unpipe(proxyReq);
    req.resume();
    proxyReq.destroy();
  };
  if (res.destroyed) end();
  else res.once('close', end);
};

/**
 * A connection is not used again after a stream. A service that stops could say so only in a head, which a stream has long
 * had: it closes the connection at its end, while the next request may be on its way.
 */
const leaveStream = (proxyReq: ClientRequest, { headers }: IncomingMessage): void => {
  if (headers['content-type']?.startsWith('text/event-stream') === true) proxyReq.shouldKeepAlive = false;
};

const passOn = (proxyRes: IncomingMessage, res: ServerResponse): void => {
  for (const [name, values] of passedOnHeaders(proxyRes.rawHeaders)) {
    res.setHeader(name, values.length === 1 ? (values[0] ?? '') : values);
  }
  // What has not come of the request is not waited for.
  if (proxyRes.statusCode === 408) res.setHeader('connection', 'close');
  res.writeHead(proxyRes.statusCode ?? 502, proxyRes.statusMessage);
  // A stream's headers must not wait for its first event.
  res.flushHeaders();
  // A truncated answer must not look complete. The other way round, `endWithAnswer` aborts the upstream request.
  proxyRes.once('error', () => res.destroy());
  proxyRes.pipe(res);
};

const answerDown = (
  req: IncomingMessage,
  res: ServerResponse,
  { match, isCertain }: { match: IngressMatch; isCertain: boolean },
): void => {
  if (res.destroyed) return;
  // The console's pages may still be building: a browser is told, and looks again. No file is answered in their name.
  if (match.service === 'console' && isCertain && req.headers.accept?.includes('text/html')) {
    answerWaiting(res);
    return;
  }
  const shape = match.errorShape;
  if (isCertain) {
    answerError(res, { code: 'service_unavailable', shape, retryAfterSeconds: RETRY_AFTER_SECONDS });
  } else if (match.mayCost) {
    answerError(res, { code: 'upstream_timeout_uncertain', shape });
  } else {
    const message = 'The connection to the service was lost before it answered: the request may have been carried out.';
    answerError(res, { code: 'service_unavailable', shape, message });
  }
};

const destroyQuietly = (res: unknown): void => {
  if (typeof res === 'object' && res !== null && 'destroy' in res && typeof res.destroy === 'function') res.destroy();
};
