import { Dialog } from '@base-ui/react/dialog';
import { type KeyboardEvent, type ReactElement, type RefObject, useEffect, useId, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { type PagePath, useMay, useMayOpen } from '../access/index.ts';
import { type OperationName, useApiQuery } from '../api/index.ts';
import { docsPath, useCoreI18n } from '../i18n/index.ts';
import { linkTo } from '../organization-address.ts';
import { useIsBusiness } from '../session/index.ts';
import { type Command, findCommands } from './find-commands.ts';

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

/** Finds pages, apps, keys, guides and acts by text. Opens or does them. */
export const PaletteDialog = ({ acts, onClose }: { acts: readonly Command[]; onClose: () => void }): ReactElement => {
  const { palette } = useCoreI18n().messages;
  const field = useRef<HTMLInputElement>(null);
  const go = useGo(onClose);
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog palette" aria-label={palette.title} initialFocus={field}>
          <Finder acts={acts} field={field} onChoose={go} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
};

const useGo = (onClose: () => void) => {
  const [, navigate] = useLocation();
  return ({ to, run, leavesConsole = false }: Command): void => {
    onClose();
    run?.();
    if (to === undefined) return;
    if (leavesConsole) window.location.assign(to);
    else navigate(to);
  };
};

const Finder = ({
  acts,
  field,
  onChoose,
}: {
  acts: readonly Command[];
  field: RefObject<HTMLInputElement | null>;
  onChoose: (command: Command) => void;
}): ReactElement => {
  const { palette } = useCoreI18n().messages;
  const [typed, setTyped] = useState('');
  const [place, setPlace] = useState(0);
  const listId = useId();
  const found = findCommands(useCommands(acts), typed);
  const active = Math.min(place, found.length - 1);
  const press = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const command = found[active];
    if (step !== 0 && found.length > 0) setPlace((active + step + found.length) % found.length);
    else if (event.key === 'Enter' && command !== undefined) onChoose(command);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        ref={field}
        className="input"
        type="text"
        role="combobox"
        aria-label={palette.title}
        aria-expanded={found.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={active < 0 ? undefined : `${listId}-${active}`}
        placeholder={palette.placeholder}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          setPlace(0);
        }}
        onKeyDown={press}
      />
      <div id={listId} role="listbox" aria-label={palette.results} className="palette-list">
        {found.map((command, index) => (
          <Option
            key={`${command.group} ${command.label}`}
            id={`${listId}-${index}`}
            command={command}
            isActive={index === active}
            onPoint={() => setPlace(index)}
            onChoose={() => onChoose(command)}
          />
        ))}
      </div>
      <p className={found.length === 0 ? 'hint' : 'visually-hidden'} role="status">
        {found.length === 0 ? palette.none : palette.count(found.length)}
      </p>
    </>
  );
};

const Option = ({
  id,
  command,
  isActive,
  onPoint,
  onChoose,
}: {
  id: string;
  command: Command;
  isActive: boolean;
  onPoint: () => void;
  onChoose: () => void;
}): ReactElement => {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isActive) box.current?.scrollIntoView({ block: 'nearest' });
  }, [isActive]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: The field keeps the focus and takes the keys.
    // biome-ignore lint/a11y/useFocusableInteractive: The field keeps the focus.
    <div
      ref={box}
      id={id}
      role="option"
      aria-selected={isActive}
      className="palette-option"
      onPointerMove={onPoint}
      onClick={onChoose}
    >
      <span>{command.label}</span>
      <span className="hint">{command.group}</span>
    </div>
  );
};
