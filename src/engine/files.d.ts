// Files that the bundler embeds: importing one gives its path.
declare module "*.so" {
  const path: string;
  export default path;
}
