import { type Html, html } from '@svc/pages';
import type { Texts } from '../texts/index.ts';
import { renderPage } from './layout.ts';
import type { Problem } from './problem.ts';

export const problemView = ({ message, action, isChoice = false }: Problem): Html => {
  const link = action !== undefined && html`<a href="${action.href}">${action.label}</a>`;
  return isChoice
    ? html`<p class="notice" role="status">${message} ${link}</p>`
    : html`<p class="problem" role="alert">${message} ${link}</p>`;
};

/** Renders a page with a problem and a link onward. */
export const renderProblemPage = (problem: Problem, texts: Texts, svcUserId?: string): string =>
  renderPage({
    texts,
    title: problem.isChoice ? texts.problem.deniedTitle : texts.problem.title,
    svcUserId,
    main: html`<h1>${problem.isChoice ? texts.problem.deniedTitle : texts.problem.heading}</h1>
${problemView(problem)}
<p><a href="/">${texts.problem.back}</a></p>`,
  });
