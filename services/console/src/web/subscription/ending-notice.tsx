import type { ReactElement } from 'react';
import { useApiMutation } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { Button, ErrorNotice, Notice } from '../ui/index.ts';
import { goTo, ownUrl } from './go-to.ts';

/** Shows the end of a cancelled subscription, with a link to resume it. */
export const EndingNotice = ({ end }: { end: string }): ReactElement => {
  const { messages, formats } = useCoreI18n();
  const { plans } = messages;
  const portal = useApiMutation('createPortalSession', { onDone: ({ url }) => goTo(url) });
  const open = (): void => portal.mutate({ body: { return_url: ownUrl('/') } });
  return (
    <>
      <Notice title={plans.endsTitle(formats.date(end))}>
        <p>{plans.endsText}</p>
        <Button small busyLabel={portal.isPending || portal.isSuccess ? plans.opening : undefined} onClick={open}>
          {plans.resume}
        </Button>
      </Notice>
      {portal.isError && <ErrorNotice error={portal.error} onRetry={open} />}
    </>
  );
};
