import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

/** Functions of VS Code that speak to the user; only src/ui may call them. */
const showsToUser = "CallExpression[callee.object.property.name='window'][callee.property.name=/^show/]";

export default defineConfig(
  { ignores: ['node_modules/', 'dist/', 'out/', '.cache/', 'test-output/', 'test/host/bridge/', '**/*.d.mts'] },
  {
    files: ['**/*.ts', '**/*.tsx', '**/*.mjs'],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['eslint.config.mjs'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/no-invalid-void-type': 'off',
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      '@typescript-eslint/unified-signatures': 'off',
      'no-restricted-syntax': [
        'error',
        { selector: showsToUser, message: 'Only src/ui speaks to the user through vscode.window.show*.' },
        {
          selector: 'CatchClause[body.body.length=0]',
          message: 'A failure that is ignored needs a reason in a statement, not an empty block.',
        },
      ],
      eqeqeq: 'error',
    },
  },
  {
    files: ['src/ui/**/*.ts'],
    rules: {
      'no-restricted-syntax': ['error', { selector: 'CatchClause[body.body.length=0]', message: 'No empty catch.' }],
    },
  },
  {
    files: ['scripts/**/*.mjs', '*.mjs'],
    rules: {
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'error', '@typescript-eslint/require-await': 'off' },
  },
);
