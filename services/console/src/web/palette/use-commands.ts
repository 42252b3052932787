import { type PagePath, useMay, useMayOpen } from '../access/index.ts';
import { type OperationName, useApiQuery } from '../api/index.ts';
import { docsPath, useCoreI18n } from '../i18n/index.ts';
import { linkTo } from '../organization-address.ts';
import { useIsBusiness } from '../session/index.ts';
import type { Command } from './find-commands.ts';

const GUIDES = ['quick-start', 'connect', 'gateway', 'receive-webhooks', 'go-live'] as const;

/** Returns acts, pages, apps, keys and guides as commands. */
export const useCommands = (acts: readonly Command[]): Command[] => {
  const { messages, locale } = useCoreI18n();
  const { shell, palette } = messages;
  const isBusiness = useIsBusiness();
  const may = useMay();
  const mayOpen = useMayOpen();
  const apps = useApiQuery('listApps', {}, { enabled: isBusiness });
  const keys = useApiQuery('listKeys', {}, { enabled: may('listKeys') });
  const pages: readonly (readonly [PagePath, string])[] = [
    ['/', shell.overview],
    ['/plans', shell.plan],
    ['/connections', shell.connections],
    ['/keys', shell.keys],
    ['/wallet', shell.wallet],
    ['/usage', shell.usage],
    ['/usage/alerts', shell.alerts],
    ['/verify', palette.verify],
    ...(isBusiness
      ? ([
          ['/apps', shell.apps],
          ['/organization/members', shell.members],
          ['/organization/seats', shell.seats],
          ['/organization/usage', shell.memberUsage],
          ['/organization/audit', shell.audit],
          ['/organization/settings', shell.rules],
        ] as const)
      : []),
    ['/account', shell.settings],
    ['/account/webhook', shell.accountEvents],
  ];
  const steps: readonly (readonly [string, string, OperationName])[] = [
    ['/keys?create', palette.createKey, 'createKey'],
    ['/wallet', palette.topUp, 'createTopUp'],
    ['/plans', palette.invoices, 'listInvoices'],
    [linkTo(undefined, '/account'), palette.addPasskey, 'addPasskey'],
    [linkTo(undefined, '/account'), palette.changePassword, 'changePassword'],
    ...(isBusiness ? [['/apps/new', palette.registerApp, 'registerApp'] as const] : []),
    ...(isBusiness ? [['/organization/members?invite', palette.invite, 'createInvitation'] as const] : []),
  ];
  return [
    ...pages.filter(([to]) => mayOpen(to)).map(([to, label]) => ({ to, label, group: palette.pages })),
    ...acts,
    ...steps.filter(([, , operation]) => may(operation)).map(([to, label]) => ({ to, label, group: palette.acts })),
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
