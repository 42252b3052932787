import type { Factor } from '@svc/contracts';
import { type ReactElement, useState } from 'react';
import { type Answer, useApiMutation, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { canUsePasskeys } from '../passkeys/index.ts';
import { Button, Card, ErrorNotice, Loaded } from '../ui/index.ts';
import { FactorRow } from './factor-row.tsx';
import { PasskeyDialog } from './passkey-dialog.tsx';
import { RecoveryRow } from './recovery-row.tsx';
import { RemoveFactorDialog } from './remove-factor-dialog.tsx';
import { RenewCodesDialog } from './renew-codes-dialog.tsx';
import { TotpDialog } from './totp-dialog.tsx';

type Question =
  | { readonly about: 'totp'; readonly added: Answer<'addTotp'>; readonly hadCodes: boolean }
  | { readonly about: 'removal'; readonly factor: Factor; readonly isLast: boolean }
  | { readonly about: 'passkey' | 'codes' };

/** Lists second factors, adds and removes them, and renews the recovery codes. */
export const FactorsCard = (): ReactElement => {
  const { factors: texts } = useI18n().messages;
  const list = useApiQuery('listFactors', {});
  const [question, setQuestion] = useState<Question>();
  return (
    <Card title={texts.title} lead={texts.lead}>
      <Loaded query={list} lines={2}>
        {(factors) => <Factors factors={factors} onAsk={setQuestion} />}
      </Loaded>
      {question !== undefined && <QuestionDialog question={question} onClose={() => setQuestion(undefined)} />}
    </Card>
  );
};

const Factors = ({
  factors: { data, recovery_codes_left: codesLeft },
  onAsk,
}: {
  factors: Answer<'listFactors'>;
  onAsk: (question: Question) => void;
}): ReactElement => {
  const { factors: texts, common } = useI18n().messages;
  const addTotp = useApiMutation('addTotp', {
    onDone: (added) => onAsk({ about: 'totp', added, hadCodes: data.length > 0 }),
  });
  return (
    <>
      {data.length === 0 ? (
        <p>{texts.empty}</p>
      ) : (
        <ul className="rows">
          {data.map((factor) => (
            <FactorRow
              key={factor.id}
              factor={factor}
              onRemove={() => onAsk({ about: 'removal', factor, isLast: data.length === 1 })}
            />
          ))}
          <RecoveryRow count={codesLeft} onRenew={() => onAsk({ about: 'codes' })} />
        </ul>
      )}
      {addTotp.isError && <ErrorNotice error={addTotp.error} />}
      <div className="actions">
        <Button busyLabel={addTotp.isPending ? common.working : undefined} onClick={() => addTotp.mutate({})}>
          {texts.addTotp}
        </Button>
        {canUsePasskeys() && <Button onClick={() => onAsk({ about: 'passkey' })}>{texts.addPasskey}</Button>}
      </div>
      {!canUsePasskeys() && <p className="hint">{texts.passkeyMissing}</p>}
    </>
  );
};

const QuestionDialog = ({ question, onClose }: { question: Question; onClose: () => void }): ReactElement => {
  switch (question.about) {
    case 'totp':
      return <TotpDialog added={question.added} hadCodes={question.hadCodes} onClose={onClose} />;
    case 'removal':
      return <RemoveFactorDialog factor={question.factor} isLast={question.isLast} onClose={onClose} />;
    case 'passkey':
      return <PasskeyDialog onClose={onClose} />;
    case 'codes':
      return <RenewCodesDialog onClose={onClose} />;
  }
};
