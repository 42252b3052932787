import type { RequestListener, ServerResponse } from 'node:http';
import type { Metrics } from '@svc/service-kit';
import type { AssetStore } from './asset-store.ts';

export interface InternalHandlerOptions {
  readonly assets: AssetStore;
  readonly metrics: Metrics;
  readonly life: { readonly isStopping: boolean };
}

/** Serves `/healthz`, `/readyz` and `/metrics`, as every service does on its internal port. */
export const createInternalHandler =
  (options: InternalHandlerOptions): RequestListener =>
  (req, res) => {
    answer(req.url, res, options).catch(() => res.destroy());
  };

const answer = async (path: string | undefined, res: ServerResponse, options: InternalHandlerOptions) => {
  switch (path) {
    case '/healthz':
      return sendJson(res, 200, { status: 'ok' });
    case '/readyz':
      return await answerReadiness(res, options);
    case '/metrics': {
      const { contentType, body } = await options.metrics.render();
      return res.writeHead(200, { 'Content-Type': contentType }).end(body);
    }
    default:
      return sendJson(res, 404, { detail: { code: 'not_found', message: 'There is nothing at this path.' } });
  }
};

const answerReadiness = async (res: ServerResponse, { assets, life }: InternalHandlerOptions) => {
  if (life.isStopping) return sendJson(res, 503, { status: 'stopping', checks: {} });
  const isBuilt = await assets.isBuilt();
  return sendJson(res, isBuilt ? 200 : 503, { status: isBuilt ? 'ready' : 'not_ready', checks: { pages: isBuilt } });
};

const sendJson = (res: ServerResponse, status: number, body: unknown) =>
  res.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }).end(JSON.stringify(body));
