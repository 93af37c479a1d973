/** The redis-cli lines that show what a node shows. */
import { redisCliLine } from '../base/redisCli';
import { cliConnection } from '../connections/cliConnection';
import type { ConnectionProfile } from '../connections/profiles';
import { DeadLettersNode } from './nodes/deadLettersNode';
import { ConnectionNode } from './nodes/connectionNode';
import { ConsumerNode } from './nodes/consumerNode';
import { DeadLetterNode, PendingNode } from './nodes/entryNodes';
import { GroupNode } from './nodes/groupNode';
import { StreamNode } from './nodes/streamNode';
import type { TreeNode } from './treeNode';

/** The commands that show a node's figures and children; none for rows that are no thing of Redis. */
export function commandsOf(node: TreeNode): readonly (readonly string[])[] {
  if (node instanceof ConnectionNode)
    return [
      ['INFO', 'server'],
      ['SCAN', '0', 'COUNT', '1000', 'TYPE', 'stream'],
    ];
  if (node instanceof StreamNode) {
    const { key } = node.facts;
    return [
      ['XLEN', key],
      ['XINFO', 'GROUPS', key],
      ['XREVRANGE', key, '+', '-', 'COUNT', '10'],
    ];
  }
  if (node instanceof GroupNode) {
    const { key } = node.parent.facts;
    return [
      ['XINFO', 'CONSUMERS', key, node.facts.name],
      ['XPENDING', key, node.facts.name],
    ];
  }
  if (node instanceof ConsumerNode) {
    const group = node.parent;
    return [['XPENDING', group.parent.facts.key, group.facts.name, '-', '+', '100', node.facts.name]];
  }
  if (node instanceof PendingNode) {
    const { id } = node.facts;
    const group = node.parent.parent;
    return [
      ['XPENDING', node.streamKey, group.facts.name, id, id, '1'],
      ['XRANGE', node.streamKey, id, id],
    ];
  }
  if (node instanceof DeadLettersNode) return [['XREVRANGE', node.facts.key, '+', '-', 'COUNT', '100']];
  if (node instanceof DeadLetterNode) return [['XRANGE', node.streamKey, node.facts.id, node.facts.id]];
  return [];
}

/** Whole lines for a shell. Passwords are never in them: redis-cli asks when the profile has one. */
export function cliLinesOf(node: TreeNode, profile: ConnectionProfile, asksPassword: boolean): readonly string[] {
  const connection = cliConnection(profile, asksPassword);
  return commandsOf(node).map((command) => redisCliLine(connection, command));
}
