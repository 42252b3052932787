import { connect } from 'node:net';

/** Sends raw bytes and returns the response until the other side closes or `until` matches. */
export const sendRaw = (port: number, bytes: string, until?: RegExp): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    let answer = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      answer += chunk;
      if (until?.test(answer) === true) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
