import type { ResolveLink } from './render-markdown.ts';

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
