import type { ReactElement } from 'react';
import { useOutage } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { Icon, useNow } from '../ui/index.ts';

/** Shows that the page is outdated while the service cannot be reached. */
export const OutageBar = (): ReactElement => {
  const { messages, formats } = useCoreI18n();
  const { shell } = messages;
  const outage = useOutage();
  const now = useNow();
  // Screen readers announce a status only if its element existed before its text.
  return (
    <div className="outage" role="status">
      {outage !== undefined && (
        <p>
          <Icon name="alert" />
          <span>
            <strong>{shell.outage}</strong>{' '}
            {outage.readAt === undefined
              ? shell.outageEmpty
              : shell.outageAge(formats.relative(new Date(outage.readAt), now))}
          </span>
        </p>
      )}
    </div>
  );
};
