//! Settings by file and by words, and what is refused.

use super::*;

#[test]
fn a_file_says_what_the_words_say() {
    let text = r#"
        wire = "zenoh"
        domain = 7
        [to_ros.imu]
        topic = "/imu"
        type = "sensor_msgs/msg/Imu"
        [to_ros."map.small"]
        topic = "/map"
        reliability = "reliable"
        durability = "transient_local"
        [from_ros."base.cmd"]
        topic = "/cmd_vel"
        message = "horus/CmdVel"
    "#;
    let file: Config = toml::from_str(text).unwrap();
    file.check().unwrap();
    assert_eq!(file.wire, Some(Wire::Zenoh));
    let mut words = Config { domain: Some(7), ..Config::default() };
    words.add_to_ros("imu=/imu:sensor_msgs/msg/Imu").unwrap();
    words.add_from_ros("/cmd_vel=base.cmd:horus/CmdVel").unwrap();
    assert_eq!((&file.to_ros["imu"], &file.from_ros), (&words.to_ros["imu"], &words.from_ros));
    words.otherwise(Quality { reliability: Some(Reliability::Reliable), ..Quality::default() });
    assert_eq!(words.from_ros["base.cmd"].quality.reliability, Some(Reliability::Reliable));
    let map = &file.to_ros["map.small"].quality;
    assert_eq!((map.reliability, map.durability), (Some(Reliability::Reliable), Some(Durability::TransientLocal)));
}

#[test]
fn a_topic_that_would_come_back_is_refused() {
    let mut config = Config::default();
    assert!(config.check().unwrap_err().to_string().contains("--to-ros"));
    config.add_to_ros("imu=/imu").unwrap();
    config.check().unwrap();
    config.add_from_ros("/imu=other").unwrap();
    assert!(config.check().unwrap_err().to_string().contains("/imu is bridged twice"));
    config.from_ros.clear();
    config.add_from_ros("/else=imu").unwrap();
    assert!(config.check().unwrap_err().to_string().contains("both ways"));
}

#[test]
fn services_parameters_and_transforms_are_named_as_topics_are() {
    let text = r#"
        [service_to_ros."map.save"]
        service = "/save_map"
        type = "std_srvs/srv/Trigger"
        [service_from_ros.plan]
        service = "/get_plan"
        type = "nav_msgs/srv/GetPlan"
        [parameters.nav]
        [parameters."arm.control"]
        node = "/arm"
        read_only = true
        [transforms]
        to_ros = true
        from_ros = true
    "#;
    let file: Config = toml::from_str(text).unwrap();
    file.check().unwrap();
    let mut words = Config::default();
    words.add_service_to_ros("map.save=/save_map:std_srvs/srv/Trigger").unwrap();
    words.add_service_from_ros("/get_plan=plan:nav_msgs/srv/GetPlan").unwrap();
    words.add_parameters("nav");
    words.check().unwrap();
    assert_eq!((&file.service_to_ros, &file.service_from_ros), (&words.service_to_ros, &words.service_from_ros));
    assert_eq!(file.parameters["nav"], words.parameters["nav"]);
    assert_eq!(file.parameters["arm.control"].node("arm.control"), "arm");
}

#[test]
fn actions_are_named_as_services_are() {
    let text = r#"
        [action_to_ros.drive_to]
        action = "/drive_to"
        type = "my_robot/action/DriveTo"
        [action_from_ros.navigate]
        action = "/navigate"
    "#;
    let file: Config = toml::from_str(text).unwrap();
    file.check().unwrap();
    let mut words = Config::default();
    words.add_action_to_ros("drive_to=/drive_to:my_robot/action/DriveTo").unwrap();
    words.add_action_from_ros("/navigate=navigate").unwrap();
    words.check().unwrap();
    assert_eq!((&file.action_to_ros, &file.action_from_ros), (&words.action_to_ros, &words.action_from_ros));
    let refused = |words: &Config| words.check().unwrap_err().to_string();
    words.add_action_from_ros("/other=drive_to").unwrap();
    assert!(refused(&words).contains("both ways"));
    words.action_from_ros.clear();
    words.add_action_from_ros("/drive_to=other").unwrap();
    assert!(refused(&words).contains("bridged twice"));
    words.action_from_ros.clear();
    words.add_action_from_ros("/navigate=navigate:my_robot/srv/Navigate").unwrap();
    assert!(refused(&words).contains("package/action/Name"));
}

#[test]
fn what_no_service_and_no_node_can_be_is_refused_with_what_to_write() {
    let refused = |text: &str| toml::from_str::<Config>(text).unwrap().check().unwrap_err().to_string();
    let service =
        |type_name: &str| refused(&format!("[service_to_ros.light]\nservice = \"/light\"\ntype = \"{type_name}\""));
    let nearest = service("std_srvs/srv/SetBol");
    assert!(nearest.contains("std_srvs/srv/SetBool"), "{nearest}");
    assert!(service("std_srvs/msg/SetBool").contains("package/srv/Name"));
    let node = refused("[parameters.\"arm.control\"]");
    assert!(node.contains("--parameters arm.control=/NODE"), "{node}");
    assert!(refused("[parameters.a]\nnode = \"x\"\n[parameters.b]\nnode = \"/x\"").contains("two nodes are called x"));
    assert!(refused("[transforms]").contains("to_ros = true"));
    let both = "[service_to_ros.a]\nservice = \"/x\"\n[service_from_ros.a]\nservice = \"/y\"";
    assert!(refused(both).contains("both ways"));
    assert!(refused(&both.replace("/y", "/x")).contains("bridged twice"));
}

#[test]
fn a_wrong_word_is_told_with_its_line() {
    let error = toml::from_str::<Config>("[to_ros.imu]\ntopic = \"/imu\"\nrelibility = \"reliable\"").unwrap_err();
    assert!(error.to_string().contains("relibility"), "{error}");
}
