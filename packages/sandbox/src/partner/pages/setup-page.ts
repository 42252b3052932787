import { html } from '@svc/pages';
import type { Texts } from '../texts/index.ts';
import { renderPage } from './layout.ts';

/** Renders the page shown until the app is registered. */
export const renderSetupPage = (problem: string | undefined, texts: Texts): string =>
  renderPage({
    texts,
    title: texts.setup.title,
    refreshSeconds: 2,
    main: html`<h1>${texts.setup.heading}</h1>
<p role="status">${texts.setup.text}</p>
${problem !== undefined && html`<p class="problem" role="alert">${texts.setup.problem(problem)}</p>`}`,
  });
