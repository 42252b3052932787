import { type Html, html } from '@svc/pages';
import type { Texts } from '../texts/index.ts';
import { renderPage } from './layout.ts';
import type { Problem } from './problem.ts';

/** A problem as a part of a page. */
export const problemView = ({ message, action }: Problem): Html =>
  html`<p class="problem" role="alert">${message} ${action !== undefined && html`<a href="${action.href}">${action.label}</a>`}</p>`;

/** A page that tells of nothing but a problem, and leads on. */
export const renderProblemPage = (problem: Problem, texts: Texts, svcUserId?: string): string =>
  renderPage({
    texts,
    title: texts.problem.title,
    svcUserId,
    main: html`<h1>${texts.problem.heading}</h1>
${problemView(problem)}
<p><a href="/">${texts.problem.back}</a></p>`,
  });
