import { type ReceiptClaims, ReceiptRejectedError, verifyReceipt } from '@svc/partner-sdk';
import { useMutation } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { useApi } from './api/index.ts';
import { docsPath, useI18n } from './i18n/index.ts';
import {
  Button,
  ButtonLink,
  checkText,
  ErrorNotice,
  Facts,
  Form,
  fault,
  Notice,
  Page,
  saveFile,
  TextArea,
  Time,
  useForm,
} from './ui/index.ts';

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

const RECEIPT_CHARACTERS_MAX = 8_192;

/** Verifies a pasted receipt in the browser: only the public keys are read from the service. */
export const VerifyPage = (): ReactElement => {
  const { messages, locale } = useI18n();
  const { receipts } = messages;
  const { call } = useApi();
  const [claims, setClaims] = useState<ReceiptClaims>();
  const form = useForm({
    initial: { receipt: '' },
    check: ({ receipt }) => checkText('receipt', receipt, { required: true, max: RECEIPT_CHARACTERS_MAX }),
    submit: async ({ receipt }) => {
      setClaims(undefined);
      const [keys, { issuer }] = await Promise.all([
        call('getReceiptJwks', {}),
        call('getAuthorizationServerMetadata', {}),
      ]);
      setClaims(await verifyReceipt(receipt, { issuer, keys }));
    },
    faultOfError: (error) =>
      error instanceof ReceiptRejectedError ? fault('receipt', receipts.faults[error.fault]) : undefined,
  });
  return (
    <Page title={receipts.title} lead={receipts.lead}>
      <div className="card">
        <Form form={form} label={receipts.title}>
          <TextArea
            label={receipts.receipt}
            hint={receipts.hint}
            rows={6}
            value={form.values.receipt}
            onChange={(receipt) => form.set('receipt', receipt)}
            fault={form.faultOf('receipt')}
          />
          <div className="actions">
            <Button type="submit" variant="primary" busyLabel={form.isBusy ? receipts.verifying : undefined}>
              {receipts.verify}
            </Button>
            <a href={docsPath(locale, 'receipts')}>{receipts.about}</a>
          </div>
        </Form>
      </div>
      {claims !== undefined && <Genuine claims={claims} />}
    </Page>
  );
};

const Genuine = ({ claims }: { claims: ReceiptClaims }): ReactElement => {
  const { messages, formats } = useI18n();
  const { receipts, usage, common } = messages;
  const count = (value: number | null): string => (value === null ? common.none : formats.number(value));
  return (
    <div className="card">
      <Notice tone="good" title={receipts.genuine}>
        <p>{receipts.genuineText(claims.iss)}</p>
      </Notice>
      <Facts
        items={[
          [usage.fields.request, <code key="request">{claims.request_id}</code>],
          [usage.columns.cost, formats.money(claims.cost_micros, claims.currency)],
          [usage.fields.state, receipts.outcomes[claims.outcome]],
          [usage.columns.tokens, `${count(claims.input_tokens)} / ${count(claims.output_tokens)}`],
          [receipts.settled, <Time key="settled" at={claims.settled_at} exact="seconds" />],
          [
            receipts.payer,
            <code key="payer">{'key_id' in claims ? String(claims.key_id) : String(claims.client_id)}</code>,
          ],
          ...('provider' in claims ? [[usage.fields.provider, claims.provider ?? common.none] as const] : []),
          ...('model' in claims ? [[usage.columns.model, claims.model ?? common.none] as const] : []),
        ]}
      />
    </div>
  );
};
