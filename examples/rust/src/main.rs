// snippet
use open_feature::{EvaluationContext, OpenFeature};
use open_feature_ofrep::{OfrepOptions, OfrepProvider};
use reqwest::header::HeaderMap;
// end of snippet

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // snippet
    let mut headers = HeaderMap::new();
    headers.insert("X-API-Key", std::env::var("HALYARD_KEY")?.parse()?);
    let provider = OfrepProvider::new(OfrepOptions {
        base_url: "http://127.0.0.1:7070/environments/development".into(),
        headers,
        ..Default::default()
    })
    .await?;
    OpenFeature::singleton_mut().await.set_provider(provider).await;
    let flags = OpenFeature::singleton().await.create_client();
    let user = EvaluationContext::default().with_targeting_key("user-1");
    let is_on = flags.get_bool_value("dark-mode", Some(&user), None).await.unwrap_or(false);
    // end of snippet

    println!("dark-mode {is_on}");
    Ok(())
}
