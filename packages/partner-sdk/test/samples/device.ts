import { type ConnectedUser, connectDevice } from '@svc/partner-sdk';
import { renderUnicodeCompact } from 'uqr';

/** Connects the user of a terminal. `print` writes a line, `console.log` for example. */
export const connectTerminal = async (print: (line: string) => void): Promise<ConnectedUser> =>
  await connectDevice({
    issuer: 'https://svc.example',
    clientId: 'app_…', // A public app with `device_flow`.
    deviceName: 'Laptop, terminal',
    onPrompt: ({ userCode, verificationUri, verificationUriComplete }) => {
      print(`Open ${verificationUri} and enter ${userCode}, or scan:`);
      print(renderUnicodeCompact(verificationUriComplete));
    },
  });
