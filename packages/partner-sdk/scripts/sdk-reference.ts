import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../', import.meta.url));
const PACKAGE = '@svc/partner-sdk';
/** Entries of the package in reading order, with the file that TypeDoc writes for each. */
const ENTRIES = [
  {
    source: 'src/index.ts',
    written: 'index',
    title: `SDK: ${PACKAGE}`,
    about: 'Connecting, inference, tokens and receipts.',
  },
  { source: 'src/server.ts', written: 'server', title: `SDK: ${PACKAGE}/server`, about: 'Receiving webhooks.' },
  {
    source: 'src/ai-sdk/index.ts',
    written: 'ai-sdk',
    title: `SDK: ${PACKAGE}/ai-sdk`,
    about: 'A provider for the Vercel AI SDK.',
  },
  {
    source: 'src/element/index.ts',
    written: 'element',
    title: `SDK: ${PACKAGE}/element`,
    about: 'The element that connects a user with one button.',
  },
] as const;

const OPTIONS = {
  tsconfig: 'tsconfig.build.json',
  logLevel: 'Error',
  readme: 'none',
  excludeExternals: true,
  disableSources: true,
  // Options of the plugin.
  outputFileStrategy: 'modules',
  hidePageHeader: true,
  hideBreadcrumbs: true,
  expandObjects: true,
  useCodeBlocks: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  classPropertiesFormat: 'table',
  typeAliasPropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  propertyMembersFormat: 'table',
  tableColumnSettings: {
    hideInherited: true,
    hideOverrides: true,
    hideModifiers: true,
    hideSources: true,
    hideDefaults: true,
  },
} as const;

// TypeDoc needs the compiler's API, which TypeScript 7 does not have.
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'typescript' && /\/typedoc/.test(context.parentURL ?? '')
      ? next('typescript-5', { ...context, parentURL: import.meta.url })
      : next(specifier, context),
});

/** Renders the reference of the package from its types, as Markdown by file name. Throws if the types do not compile. */
export const sdkReference = async (): Promise<Readonly<Record<string, string>>> => {
  const { Application } = await import('typedoc');
  const { load } = await import('typedoc-plugin-markdown');
  const out = await mkdtemp(join(tmpdir(), 'svc-sdk-reference-'));
  try {
    const application = await Application.bootstrapWithPlugins({
      ...OPTIONS,
      plugin: [load],
      groupOrder: ['Functions', 'Classes', 'Interfaces', 'Type Aliases', 'Variables'],
      entryPoints: ENTRIES.map(({ source }) => join(FOLDER, source)),
      tsconfig: join(FOLDER, OPTIONS.tsconfig),
      outputs: [{ name: 'markdown', path: out }],
    });
    const project = await application.convert();
    if (project === undefined) throw new Error('TypeDoc cannot read the types of the SDK.');
    await application.generateOutputs(project);
    const pages = ENTRIES.map(async ({ written, title, about }) => {
      const text = await readFile(join(out, `${written}.md`), 'utf8');
      return [`${written}.md`, pageOf(text, title, about)] as const;
    });
    return Object.fromEntries(await Promise.all(pages));
  } finally {
    await rm(out, { recursive: true, force: true });
  }
};

const HEADER = '<!-- Generated from packages/partner-sdk/src by `npx pnpm generate`; do not edit. -->';

/** Drops rules between sections, anchors in tables, and the name of parameters that are taken apart at once. */
const pageOf = (text: string, title: string, about: string): string => {
  const body = text
    .replace(/^# .+$/m, `# ${title}\n\n${about}`)
    .replaceAll(/^\*\*\*\n\n|<a id="[^"]*"><\/a> /gm, '')
    .replaceAll('__namedParameters', 'options');
  return `${HEADER}\n\n${body}`;
};
