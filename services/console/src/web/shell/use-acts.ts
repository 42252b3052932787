import { useCoreI18n } from '../i18n/index.ts';
import { linkTo } from '../organization-address.ts';
import type { Command } from '../palette/index.ts';
import type { Theme } from '../preferences.ts';
import { useTheme } from './theme.tsx';
import { useOrganizations } from './use-organizations.ts';
import { useSignOut } from './use-sign-out.ts';

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

/** Returns what the command palette does without another page. */
export const useActs = (): readonly Command[] => {
  const { palette, shell } = useCoreI18n().messages;
  const { setTheme } = useTheme();
  const { signOut } = useSignOut();
  const { ownName, present, others } = useOrganizations();
  const accounts = others.length === 0 ? [] : [{ id: undefined, name: ownName }, ...others];
  return [
    ...accounts
      .filter(({ id }) => id !== present?.id)
      .map(({ id, name }) => ({ to: linkTo(id), label: shell.actForAccount(name), group: palette.acts })),
    ...THEMES.map((theme) => ({
      label: palette.theme(shell.themes[theme]),
      group: palette.acts,
      run: () => setTheme(theme),
    })),
    { label: shell.signOut, group: palette.acts, run: signOut },
  ];
};
