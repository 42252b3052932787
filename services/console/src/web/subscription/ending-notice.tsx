import type { ReactElement } from 'react';
import { Permitted } from '../access/index.ts';
import { useApiMutation } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { ownUrl } from '../organization-address.ts';
import { Button, ErrorNotice, Notice } from '../ui/index.ts';

/** Sends the browser to an address. Tests replace it. */
type Assign = (url: string) => void;

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
        <Permitted to="createPortalSession">
          <Button small busyLabel={portal.isPending || portal.isSuccess ? plans.opening : undefined} onClick={open}>
            {plans.resume}
          </Button>
        </Permitted>
      </Notice>
      {portal.isError && <ErrorNotice error={portal.error} onRetry={open} />}
    </>
  );
};

/** Redirects the browser to a hosted page of the payment provider. Throws for anything but a web address. */
export const goTo = (url: string, assign: Assign = (target) => window.location.assign(target)): void => {
  const { protocol } = new URL(url);
  if (protocol !== 'https:' && protocol !== 'http:') throw new Error('not a web address');
  assign(url);
};
