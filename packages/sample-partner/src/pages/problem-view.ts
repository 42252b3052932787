import { type Html, html } from '@svc/pages';
import type { Texts } from '../texts/index.ts';
import { renderPage } from './layout.ts';
import type { Problem } from './problem.ts';

export const problemView = ({ message, action }: Problem): Html =>
  html`<p class="problem" role="alert">${message} ${action !== undefined && html`<a href="${action.href}">${action.label}</a>`}</p>`;

/** Renders a page with a problem and a link onward. */
export const renderProblemPage = (problem: Problem, texts: Texts, svcUserId?: string): string =>
  renderPage({
    texts,
    title: texts.problem.title,
    svcUserId,
    main: html`<h1>${texts.problem.heading}</h1>
${problemView(problem)}
<p><a href="/">${texts.problem.back}</a></p>`,
  });
