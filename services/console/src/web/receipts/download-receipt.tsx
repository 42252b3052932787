import { useMutation } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { useApi } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { Button, ButtonLink, ErrorNotice, saveFile } from '../ui/index.ts';

/** Saves the signed receipt of a request, and links to the page that verifies it. */
export const DownloadReceipt = ({ requestId }: { requestId: string }): ReactElement => {
  const { receipts, common } = useI18n().messages;
  const { call } = useApi();
  const fetched = useMutation({
    mutationFn: () => call('getGatewayReceipt', { params: { request_id: requestId } }),
    onSuccess: ({ receipt }) => saveFile(new Blob([receipt], { type: 'application/jose' }), `${requestId}.jws`),
  });
  return (
    <>
      <div className="button-pair">
        <Button
          small
          icon="download"
          busyLabel={fetched.isPending ? common.working : undefined}
          onClick={() => fetched.mutate()}
        >
          {receipts.download}
        </Button>
        <ButtonLink to="/verify" small variant="quiet">
          {receipts.toVerify}
        </ButtonLink>
      </div>
      {fetched.isError && <ErrorNotice error={fetched.error} />}
    </>
  );
};
