import type { App } from '@svc/contracts';
import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Badge } from './badge.tsx';

/** State of an app in a word. */
export const AppState = ({ app }: { app: App }): ReactElement => {
  const { apps } = useI18n().messages;
  if (app.suspended_at !== null) return <Badge tone="bad">{apps.suspended}</Badge>;
  return <Badge tone={app.active ? 'good' : 'neutral'}>{app.active ? apps.active : apps.inactive}</Badge>;
};
