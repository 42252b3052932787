import { escapeHtml, type Html, html, trustedHtml } from '@svc/pages';
import { Marked, type Token, type Tokens } from 'marked';
import type { Language } from '../site/guide-sections.ts';
import { type CodeTab, type CodeTexts, codeBlock, codeTexts, readCodeFence, TAB_LABELS } from './code-block.ts';
import { diagram } from './diagram.ts';

/** Neighboring blocks of code in several languages. */
interface CodeTabsToken extends Tokens.Generic {
  readonly type: 'code-tabs';
  readonly blocks: readonly Tokens.Code[];
}

/** Folds neighboring blocks of code that name a tab into one token each. */
const foldCodeTabs = (tokens: readonly Token[]): Token[] => {
  const folded: Token[] = [];
  let group: Tokens.Code[] = [];
  const close = (): void => {
    if (group.length > 0) folded.push({ type: 'code-tabs', raw: '', blocks: group } satisfies CodeTabsToken);
    group = [];
  };
  for (const token of tokens) {
    if (isTabbed(token)) {
      group.push(token);
    } else if (token.type !== 'space' || group.length === 0) {
      close();
      folded.push(token);
    }
  }
  close();
  return folded;
};

const isTabbed = (token: Token): token is Tokens.Code =>
  token.type === 'code' && readCodeFence(token['lang'] ?? '').tab !== undefined;

interface CodeTabs {
  /** Unique in the page. */
  readonly name: string;
  readonly panels: ReadonlyMap<CodeTab, Html>;
  readonly texts: CodeTexts;
}

/**
 * Renders radio buttons with one panel each. The style sheet shows the panel of the checked one, so that tabs work
 * without a script; browsers without `:has()` show all panels with their titles.
 */
export const codeTabs = ({ name, panels, texts }: CodeTabs): Html => html`<fieldset class="tabs">
<legend class="visually-hidden">${texts.languages}</legend>
<div class="tab-strip">${[...panels.keys()].map(
  (tab, index) =>
    html`<label><input type="radio" name="${name}" value="${tab}" autocomplete="off"${index === 0 && html` checked`}>${TAB_LABELS[tab]}</label>`,
)}</div>
${[...panels].map(
  ([tab, content]) => html`<div class="tab-panel" data-tab="${tab}"><p class="tab-title">${TAB_LABELS[tab]}</p>
${content}</div>
`,
)}</fieldset>
`;

/** Renders the blocks of code of one page. */
interface CodeRenderer {
  readonly block: (token: Tokens.Code) => string;
  readonly tabs: (blocks: readonly Tokens.Code[]) => string;
}

const createCodeRenderer = (texts: CodeTexts): CodeRenderer => {
  let groups = 0;
  let diagrams = 0;

  const block = ({ text, lang }: Tokens.Code): Html => {
    const fence = readCodeFence(lang ?? '');
    if (fence.role?.kind !== 'diagram') return codeBlock(text, fence, texts);
    diagrams += 1;
    return diagram({ id: `diagram-${diagrams}`, title: fence.role.title, source: text, texts });
  };

  return {
    block: (token) => block(token).markup,
    tabs: (blocks) => {
      groups += 1;
      const panels = new Map<CodeTab, Html>();
      for (const token of blocks) {
        const { tab } = readCodeFence(token.lang ?? '');
        if (tab === undefined) continue;
        panels.set(tab, trustedHtml(`${panels.get(tab)?.markup ?? ''}${block(token).markup}`));
      }
      return codeTabs({ name: `tabs-${groups}`, panels, texts }).markup;
    },
  };
};

/** Creates anchors that are unique within a page, numbered as on GitHub. */
const createSlugger = (): ((text: string) => string) => {
  const taken = new Set<string>();
  return (text) => {
    const slug = toSlug(text);
    let unique = slug;
    for (let count = 1; taken.has(unique); count += 1) unique = `${slug}-${count}`;
    taken.add(unique);
    return unique;
  };
};

/** Converts text to a part of an address, without accents. */
export const toSlug = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');

/** A heading below the title. */
export interface Heading {
  readonly level: number;
  readonly id: string;
  readonly text: string;
}

/** A page's content. */
export interface RenderedMarkdown {
  /** The only heading of level 1. */
  readonly title: string;
  readonly headings: readonly Heading[];
  /** Includes the title. */
  readonly content: Html;
  /** Link targets as they will appear in the page. */
  readonly links: readonly string[];
}

/**
 * Resolves a link of the source to its address on the site; undefined if the target is not a page, which leaves only
 * the text.
 */
export type ResolveLink = (href: string) => string | undefined;

/** Sizes of pictures by address, so that a page leaves room for them. */
export type PictureSizes = ReadonlyMap<string, { readonly width: number; readonly height: number }>;

export interface RenderOptions {
  readonly resolveLink: ResolveLink;
  readonly language?: Language;
  readonly pictures?: PictureSizes;
}

/** A comment that the script of the page replaces by a form. */
const WIDGET = /^<!-- widget: ([a-z-]+) -->\s*$/;

const widgetOf = (text: string): string | undefined => {
  const [, name] = WIDGET.exec(text) ?? [];
  return name === undefined ? undefined : `<div class="try" data-widget="${name}"></div>\n`;
};

/** Renders a page that we have written; HTML in it becomes text. Throws for a picture that does not exist. */
export const renderMarkdown = (
  markdown: string,
  { resolveLink, language = 'en', pictures = new Map() }: RenderOptions,
): RenderedMarkdown => {
  const headings: Heading[] = [];
  const links: string[] = [];
  const slugOf = createSlugger();
  const code = createCodeRenderer(codeTexts[language]);
  let title = '';
  const marked = new Marked({
    hooks: { processAllTokens: foldCodeTabs },
    extensions: [{ name: 'code-tabs', renderer: (token) => code.tabs(token['blocks']) }],
    renderer: {
      html: ({ text }) => widgetOf(text) ?? (text.startsWith('<!--') ? '' : escapeHtml(text)),
      // Not an input: readers do not tick it here.
      checkbox: () => '<span class="box" aria-hidden="true">☐</span> ',
      code: (token: Tokens.Code) => code.block(token),
      heading({ tokens, depth }: Tokens.Heading) {
        const inner = this.parser.parseInline(tokens);
        const text = textOf(inner);
        if (depth === 1) {
          title = text;
          return `<h1>${inner}</h1>\n`;
        }
        const id = slugOf(text);
        headings.push({ level: depth, id, text });
        return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${inner}</a></h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const inner = this.parser.parseInline(tokens);
        const target = resolveLink(href);
        if (target === undefined) return inner;
        links.push(target);
        return `<a href="${escapeHtml(target)}">${inner}</a>`;
      },
      image({ href, text }: Tokens.Image) {
        const address = resolveLink(href) ?? href;
        const size = pictures.get(address);
        if (size === undefined) throw new Error(`There is no picture ${href}.`);
        return `<img class="picture" src="${escapeHtml(address)}" alt="${escapeHtml(text)}" width="${size.width}" height="${size.height}" loading="lazy">`;
      },
      table(token: Tokens.Table) {
        const cells = (row: Tokens.TableCell[], tag: 'td' | 'th') =>
          row.map((cell) => tableCell(this.parser.parseInline(cell.tokens), tag)).join('');
        const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
        const isNamed = token.header.some(({ text }) => text !== '');
        const head = isNamed ? `<thead><tr>${cells(token.header, 'th')}</tr></thead>` : '';
        return `<div class="table" tabindex="0"><table>${head}<tbody>\n${rows}\n</tbody></table></div>\n`;
      },
    },
  });
  const content = trustedHtml(marked.parse(markdown, { async: false }));
  return { title, headings, content, links };
};

/** An empty heading cell would have no meaning for screen readers. */
const tableCell = (inner: string, tag: 'td' | 'th'): string =>
  tag === 'th' && inner !== '' ? `<th scope="col">${inner}</th>` : `<td>${inner}</td>`;

/** Returns the text of rendered HTML. */
export const textOf = (content: string): string =>
  content
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll(/&(amp|lt|gt|quot|#39|#x27);/g, (_entity, name: string) => ENTITIES[name] ?? '');

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'" };

/** Returns Markdown whose links lead to the Markdown pages of the site. Of links to anything else the text remains. */
export const linkMarkdown = (markdown: string, resolveLink: ResolveLink): string =>
  markdown.replaceAll(/\[([^\]]*)\]\(([^)\s]+)\)/g, (_whole, text: string, href: string) => {
    const target = resolveLink(href);
    return target === undefined ? text : `[${text}](${toMarkdownAddress(target)})`;
  });

/** Returns the address of a page's Markdown; other addresses stay as they are. */
export const toMarkdownAddress = (address: string): string => {
  const [path = '', anchor] = address.split('#', 2);
  const isPage = /^\/docs(\/[\w/-]+)?$/.test(path);
  return `${path}${isPage ? '.md' : ''}${anchor === undefined ? '' : `#${anchor}`}`;
};
