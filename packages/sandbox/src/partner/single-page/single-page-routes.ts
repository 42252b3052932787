import { Router } from 'express';
import type { Partner } from '../connect/index.ts';
import { pagePolicy, renderSetupPage } from '../pages/index.ts';
import { textsOf } from '../texts/index.ts';
import { bundleScript } from './bundle-script.ts';
import { renderSinglePage } from './single-page-view.ts';

export interface SinglePageRoutesDeps {
  readonly partner: () => Partner | undefined;
  readonly setupProblem: () => string | undefined;
  readonly serviceUrl: string;
  /** Redirect URI of the page. */
  readonly redirectUri: string;
}

/** Serves an app that runs in the browser alone: a page, its script, and no further endpoint. */
export const singlePageRoutes = (deps: SinglePageRoutesDeps): Router => {
  const { partner, setupProblem, serviceUrl, redirectUri } = deps;
  let script: Promise<string> | undefined;
  return Router()
    .get('/browser', (request, response) => {
      const texts = textsOf(request);
      const current = partner();
      if (current === undefined) return response.status(503).send(renderSetupPage(setupProblem(), texts));
      const { pageClientId: clientId, currency } = current;
      response.set('content-security-policy', pagePolicy([new URL(serviceUrl).origin]));
      response.send(renderSinglePage({ clientId, redirectUri, currency, view: { texts, serviceUrl } }));
    })
    .get('/browser/app.js', async (_request, response) => {
      script ??= bundleScript();
      response.type('text/javascript').send(await script);
    });
};
