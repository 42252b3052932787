import type { App } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useCoreI18n } from '../i18n/index.ts';

/** Meaning of a state for the person. The text states it too, so color is never the only sign. */
export type Tone = 'good' | 'neutral' | 'warn' | 'bad';

/** Renders the state of an app in one word. */
export const AppState = ({ app }: { app: App }): ReactElement => {
  const { appStates } = useCoreI18n().messages.common;
  if (app.suspended_at !== null) return <Badge tone="bad">{appStates.suspended}</Badge>;
  return <Badge tone={app.active ? 'good' : 'neutral'}>{app.active ? appStates.active : appStates.inactive}</Badge>;
};

/** Renders a short state. */
export const Badge = ({ tone, children }: { tone: Tone; children: string }): ReactElement => (
  <span className={`badge badge-${tone}`}>{children}</span>
);
