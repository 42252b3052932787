import { type Html, html, trustedHtml } from '@svc/pages';
import { renderMermaidSVG } from 'beautiful-mermaid';
import type { CodeTexts } from './code-block.ts';

/** A message of a sequence diagram. */
interface Message {
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

export interface Diagram {
  /** Unique in the page. */
  readonly id: string;
  readonly title: string;
  readonly source: string;
  readonly texts: CodeTexts;
}

/**
 * Draws a sequence diagram, with its messages as a list for readers who do not see it. The colors are those of the
 * style sheet, as the page's policy allows no style inside the drawing, and so they follow the theme.
 */
export const diagram = ({ id, title, source, texts }: Diagram): Html => html`<figure class="diagram">
<figcaption>${title}</figcaption>
<div class="drawing" tabindex="0">${trustedHtml(draw(source, id))}</div>
<details><summary>${texts.inWords}</summary>
<ol>${messagesOf(source).map(({ from, to, text }) => html`<li><strong>${from === to ? from : `${from} → ${to}`}</strong>: ${text}</li>`)}</ol>
</details>
</figure>
`;

const draw = (source: string, id: string): string =>
  renderMermaidSVG(widenParticipants(source))
    .replace(/<style>[\s\S]*?<\/style>/, '')
    .replace(/<svg [^>]*>/, (tag) => tag.replace(/ style="[^"]*"/, ' aria-hidden="true" focusable="false"'))
    .replaceAll('id="', `id="${id}-`)
    .replaceAll('url(#', `url(#${id}-`);

const PARTICIPANT = /^\s*participant (\w+) as (.+)$/gm;
const MESSAGE = /^\s*(\w+)\s*--?>>\s*(\w+): (.+)$/gm;

/** Widths in the drawing's pixels: of a message's letter, of a participant's, and between messages of neighbors. */
const MESSAGE_LETTER = 6.2;
const PARTICIPANT_LETTER = 7.4;
const MESSAGE_MARGIN = 24;
/** Space that the library leaves between neighbors besides the letters of their names. */
const NEIGHBOR_GAP = 74;

/**
 * Pads the names of participants until the longest message between neighbors fits: the library spaces participants by
 * their names alone. It trims names, so the padding ends in characters of no width.
 */
const widenParticipants = (source: string): string => {
  const keys = [...source.matchAll(PARTICIPANT)].map(([, key = '']) => key);
  const letters = new Map<string, number>();
  for (const [, from = '', to = '', text = ''] of source.matchAll(MESSAGE)) {
    if (Math.abs(keys.indexOf(from) - keys.indexOf(to)) !== 1) continue;
    const needed = (text.length * MESSAGE_LETTER + MESSAGE_MARGIN - NEIGHBOR_GAP) / PARTICIPANT_LETTER;
    for (const key of [from, to]) letters.set(key, Math.max(letters.get(key) ?? 0, needed));
  }
  return source.replaceAll(PARTICIPANT, (line, key: string, name: string) => {
    const missing = Math.max(0, (letters.get(key) ?? 0) - name.trim().length - 2);
    const padding = '\u00a0'.repeat(Math.ceil(missing / 2));
    return line.replace(name, `\u200b${padding}${name.trim()}${padding}\u200b`);
  });
};

const messagesOf = (source: string): readonly Message[] => {
  const names = new Map([...source.matchAll(PARTICIPANT)].map(([, key = '', name = '']) => [key, name.trim()]));
  const nameOf = (key: string): string => names.get(key) ?? key;
  return [...source.matchAll(MESSAGE)].map(([, from = '', to = '', text = '']) => ({
    from: nameOf(from),
    to: nameOf(to),
    text: text.replaceAll(/<br\s*\/?>/g, ' '),
  }));
};
