import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Notice, Page, useNow } from '../ui/index.ts';

/** Shows when a deleted account is erased, and how its owner can keep it. */
export const DeletedPage = ({ erasedAt }: { erasedAt: string }): ReactElement => {
  const { messages, formats } = useI18n();
  const { ownData: texts } = messages;
  const now = useNow();
  const isPending = new Date(erasedAt) > now;
  return (
    <Page title={texts.deletedTitle}>
      <Notice>
        <p>{isPending ? texts.erasedAt(formats.dateTime(erasedAt)) : texts.erasedNow}</p>
      </Notice>
      {isPending && <p>{texts.cancelHint}</p>}
    </Page>
  );
};
