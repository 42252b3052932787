import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';
import { OnceOnlyDialog } from '../overlays/index.ts';
import { Button, CopyButton, saveFile } from '../ui/index.ts';

const FILE_NAME = 'svc-recovery-codes.txt';

/** Shows new recovery codes once, to copy or download. */
export const RecoveryCodesDialog = ({
  codes,
  email,
  isReplacement,
  onClose,
}: {
  codes: readonly string[];
  /** Address of the account, for the file. */
  email: string;
  /** True if earlier codes ended. */
  isReplacement: boolean;
  onClose: () => void;
}): ReactElement => {
  const { messages, formats } = useI18n();
  const { factors: texts, common } = messages;
  const download = (): void => {
    const lines = [texts.codesFile(email, formats.date(new Date())), '', ...codes, ''];
    saveFile(new Blob([lines.join('\n')], { type: 'text/plain' }), FILE_NAME);
  };
  return (
    <OnceOnlyDialog title={texts.codesTitle} doneLabel={texts.codesDone} onClose={onClose}>
      <p>{texts.codesText}</p>
      {isReplacement && <p className="hint">{texts.codesReplaced}</p>}
      <ul className="codes" aria-label={texts.codes}>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div className="actions">
        <CopyButton text={codes.join('\n')} label={`${common.copy}: ${texts.codes}`} small={false} />
        <Button icon="download" onClick={download}>
          {texts.codesDownload}
        </Button>
      </div>
    </OnceOnlyDialog>
  );
};
