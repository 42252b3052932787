import { useApiQuery } from '../api/index.ts';
import { docsPath, useCoreI18n } from '../i18n/index.ts';
import { useAccount } from '../session/index.ts';
import type { Command } from './find-commands.ts';

const GUIDES = ['quick-start', 'connect', 'gateway', 'receive-webhooks', 'go-live'] as const;

/** Returns acts, pages, apps, keys and guides as commands. */
export const useCommands = (acts: readonly Command[]): Command[] => {
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
    ['/verify', palette.verify],
    ...(isBusiness ? [['/apps', shell.apps] as const] : []),
    ['/account', shell.settings],
    ['/account/webhook', shell.accountEvents],
  ] as const;
  const steps = [
    ['/keys?create', palette.createKey],
    ['/wallet', palette.topUp],
    ['/plans', palette.invoices],
    ['/account', palette.addPasskey],
    ['/account', palette.changePassword],
    ...(isBusiness ? [['/apps/new', palette.registerApp] as const] : []),
  ] as const;
  return [
    ...pages.map(([to, label]) => ({ to, label, group: palette.pages })),
    ...acts,
    ...steps.map(([to, label]) => ({ to, label, group: palette.acts })),
    ...(apps.data?.data ?? []).flatMap(({ client_id, name }) => [
      { to: `/apps/${client_id}`, label: name, group: shell.apps },
      { to: `/apps/${client_id}/analytics`, label: `${name}: ${palette.analytics}`, group: shell.apps },
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
