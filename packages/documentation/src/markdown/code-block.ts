import { type Html, html } from '@svc/pages';
import type { CodeFence } from './code-fence.ts';
import { highlight } from './highlight.ts';

/** Renders a block of code, with a title for a file and a copy button for code to paste. */
export const codeBlock = (code: string, { language, role }: CodeFence): Html => {
  const title = titleOf(role);
  const isPasted = role?.kind !== 'output';
  return html`<figure class="code${role?.kind === 'output' && ' is-output'}">
${title !== undefined && html`<figcaption>${title}</figcaption>`}
${isPasted && html`<button type="button" class="copy">Copy</button>`}
<pre tabindex="0"><code>${highlight(code.trimEnd(), language)}</code></pre>
</figure>
`;
};

const titleOf = (role: CodeFence['role']): string | Html | undefined => {
  switch (role?.kind) {
    case 'file':
      return html`Save as <code>${role.name}</code>`;
    case 'run':
      return role.needs === undefined ? undefined : html`Tested where <code>${role.needs}</code> succeeds`;
    case 'not-run':
      return `Not run by the tests: ${role.reason}`;
    case 'background':
      return 'In a second terminal, in the same folder';
    case 'output':
      return role.of === 'background' ? 'In the second terminal' : 'Prints';
    default:
      return undefined;
  }
};
