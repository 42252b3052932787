import type { ReactElement } from 'react';
import { useApiQuery } from '../api/index.ts';

const FRESH_MS = 5 * 60_000;

/** Renders the icon of an app beside its name; hidden from screen readers. */
export const AppIcon = ({ clientId, large = false }: { clientId: string; large?: boolean }): ReactElement => {
  const icon = useApiQuery('getAppIcon', { params: { client_id: clientId } }, { staleTime: FRESH_MS });
  const className = large ? 'app-icon app-icon-large' : 'app-icon';
  return icon.data === undefined ? (
    <span className={className} aria-hidden="true" />
  ) : (
    <img className={className} src={icon.data} alt="" />
  );
};
