import { toMarkdownAddress } from './markdown/index.ts';
import type { NavigationSection, Page } from './page/index.ts';

/** Path of the list of pages for language models (llmstxt.org). */
export const LLMS_PATH = 'llms.txt';

const LEAD_CHARACTERS_MAX = 200;

/** Lists the pages of the navigation as Markdown, each with the beginning of its text. */
export const llmsText = (navigation: readonly NavigationSection[], pages: readonly Page[]): string => {
  const leads = new Map(pages.map(({ address, markdown }) => [address, leadOf(markdown)]));
  const sections = navigation.map(({ title, links }) => {
    const items = links.map((link) => {
      const lead = leads.get(link.address) ?? '';
      return `- [${link.title}](${toMarkdownAddress(link.address)})${lead === '' ? '' : `: ${lead}`}`;
    });
    return `## ${title}\n\n${items.join('\n')}\n`;
  });
  return `# svc

> Bring your own AI subscription to other people’s apps: registered-app OAuth, delegated chat and audio inference on a user’s subscription, signed lifecycle webhooks, and an API-key gateway in the common chat-completions wire format with proof of the EU provider.

Every page is Markdown at its address with \`.md\`. The API as OpenAPI 3.1: [/v1/openapi.json](/v1/openapi.json). Webhook events as AsyncAPI 3.0: [/v1/asyncapi.json](/v1/asyncapi.json).

${sections.join('\n')}`;
};

/** Returns the first sentence below the title. */
const leadOf = (markdown: string): string => {
  const paragraph = markdown.split(/\n{2,}/).find((text) => /^[\p{L}*`[]/u.test(text)) ?? '';
  const plain = paragraph
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[*`]|\s+/g, (part) => (part.trim() === '' ? ' ' : ''));
  const [sentence = ''] = plain.split(/(?<=[.!?])\s/, 1);
  return sentence.slice(0, LEAD_CHARACTERS_MAX);
};
