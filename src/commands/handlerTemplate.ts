/** The file that Create Handler File writes. An ES module by its name, so that it loads in any workspace. */
export const handlerTemplate = `/**
 * Handles one message of a Redis stream. Set a breakpoint below and start the launch configuration of this file (F5).
 *
 * Returning acknowledges the message. Throwing has it delivered again after a while. An error with the name 'Reject' gives the message
 * up at once; one with the name 'RetryLater' and a number 'delayMs' chooses when it is delivered again.
 *
 * @param {object} message
 * @param {string} message.id the entry's id
 * @param {string} message.stream the stream's key
 * @param {Record<string, string>} message.fields the fields as text
 * @param {readonly Buffer[]} message.rawFields the fields as bytes: name, value, name, value
 * @param {object} context
 * @param {number} context.deliveryCount how often it was delivered, this time included
 * @param {boolean} context.redelivered
 * @param {AbortSignal} context.signal aborted when the worker closes or somebody else owns the message now
 * @param {{ info(text: string, details?: object): void }} context.log
 */
export async function handle(message, context) {
  const { id, fields } = message;
  context.log.info('Handled', { id, fields: Object.keys(fields).length });
}
`;
