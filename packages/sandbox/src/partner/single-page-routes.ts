import { fileURLToPath } from 'node:url';
import { html } from '@svc/pages';
import { build } from 'esbuild';
import { Router } from 'express';
import type { Partner } from './connect.ts';
import { pagePolicy, renderPage, renderSetupPage } from './pages.ts';
import { textsOf, type View } from './texts/view.ts';

interface SinglePage {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly currency: string;
  readonly view: View;
}

/** Proposed on the consent page, where the user may change or remove it. */
const LIMIT_MICROS = 500_000;

/** Renders the page of the app without a server. Its script does the rest. */
const renderSinglePage = ({ clientId, redirectUri, currency, view }: SinglePage): string => {
  const { texts, serviceUrl } = view;
  const { chat, problem, single } = texts;
  return renderPage({
    texts,
    title: texts.singlePage,
    script: '/browser/app.js',
    main: html`<div id="single-page" data-currency="${currency}" data-locale="${texts.locale}" data-left="${single.left}" data-unlimited="${single.unlimited}" data-you="${chat.you}" data-ended="${problem.ended}" data-failed="${problem.notAnswered}" data-change="${problem.changeLimit}">
<h1>${single.heading}</h1>
<p class="lead">${single.lead}</p>
<p><svc-connect base-url="${serviceUrl.replace(/\/$/, '')}" client-id="${clientId}" redirect-uri="${redirectUri}" budget-micros="${LIMIT_MICROS}" budget-currency="${currency}" budget-period="week" resume></svc-connect></p>
<p class="hint" data-connected="no">${single.memory}</p>
<div data-connected="yes" hidden>
<p id="page-usage" class="budget" role="status"></p>
<section aria-labelledby="chat-title">
<h2 id="chat-title">${chat.title}</h2>
<div id="conversation" role="log" aria-live="polite" aria-labelledby="chat-title" data-empty="${chat.empty}"></div>
<form id="page-chat">
<label for="message">${chat.message}</label>
<textarea id="message" name="message" rows="3" maxlength="4000" required></textarea>
<button>${chat.send}</button>
</form>
</section>
</div>
</div>`,
  });
};

const ENTRY = fileURLToPath(new URL('../../client/single-page.ts', import.meta.url));

/** Bundles the script of the single page with the SDK. */
const bundleScript = async (): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [ENTRY],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2023',
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
};

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
