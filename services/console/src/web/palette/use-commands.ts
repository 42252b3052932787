import { useApiQuery } from '../api/index.ts';
import { docsPath, useCoreI18n } from '../i18n/index.ts';
import { useAccount } from '../session/index.ts';
import type { Command } from './find-commands.ts';

const GUIDES = ['quick-start', 'connect', 'gateway', 'receive-webhooks', 'go-live'] as const;

/** Returns pages, apps, keys and guides as commands. */
export const useCommands = (): Command[] => {
  const { messages, locale } = useCoreI18n();
  const { shell, palette } = messages;
  const isBusiness = useAccount().account_type === 'business';
  const apps = useApiQuery('listApps', {}, { enabled: isBusiness });
  const keys = useApiQuery('listKeys', {});
  const pages = [
    ['/', shell.overview],
    ['/plans', shell.plan],
    ['/connections', shell.connections],
    ['/keys', shell.keys],
    ['/wallet', shell.wallet],
    ['/usage', shell.usage],
    ['/usage/alerts', shell.alerts],
    ...(isBusiness ? [['/apps', shell.apps] as const] : []),
    ['/account', shell.settings],
  ] as const;
  return [
    ...pages.map(([to, label]) => ({ to, label, group: palette.pages })),
    ...(apps.data?.data ?? []).flatMap(({ client_id, name }) => [
      { to: `/apps/${client_id}`, label: name, group: shell.apps },
      { to: `/apps/${client_id}/webhook`, label: `${name}: ${palette.webhook}`, group: shell.apps },
    ]),
    ...(keys.data?.data ?? []).map(({ id, name }) => ({
      to: `/usage?key=${id}`,
      label: name,
      group: palette.keyUsage,
    })),
    ...GUIDES.map((page) => ({
      to: docsPath(locale, page),
      label: palette.guides[page],
      group: shell.documentation,
      leavesConsole: true,
    })),
  ];
};
